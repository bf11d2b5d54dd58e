@pawl @parcel @n-plus
Feature: Test suite n-plus of parcel

  The ways of the round-trip tree from a row's creation, and what must not move the row.
  Machine parcel: A parcel on its way.

  @parcel/n-plus/leaf/PACKED/expire
  Scenario: expire: PACKED → LOST
    Given there is no row of "parcel" yet; the first step creates it
    When I create a new row of "parcel"
    And these values are given
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
      | paid_cents | 0 |
    Then answer: Applied
    And row: state "PACKED", version 1
    And deadline: after 2 days: expire
    And history: one row, → "PACKED"
    And outbox: "parcel_packed"
    When I let 2 days pass, so that the deadline fires "expire"; or call the event
    Then answer: Applied
    And row: state "LOST", version +1
    And deadline: none any more
    And history: one new row, "PACKED" → "LOST"
    And outbox: nothing new

  @parcel/n-plus/leaf/IN%20TRANSIT/scan
  Scenario: collect [paid]: PACKED → IN TRANSIT, then scan: IN TRANSIT → ARRIVED
    Given there is no row of "parcel" yet; the first step creates it
    When I create a new row of "parcel"
    And these values are given
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
      | paid_cents | 0 |
    Then answer: Applied
    And row: state "PACKED", version 1
    And deadline: after 2 days: expire
    And history: one row, → "PACKED"
    And outbox: "parcel_packed"
    When I call event "collect"
    And these values are given
      | due_cents | 0 |
    And thereby this holds: the postage is paid
    Then answer: Applied
    And row: state "IN TRANSIT" (On its way), version +1
    And deadline: none any more
    And history: one new row, "PACKED" → "IN TRANSIT"
    And outbox: nothing new
    When I deliver callback "scan"
    And these values are given
      | scan_no | scan_no-1 |
    Then answer: Applied
    And row: state "ARRIVED", version +1
    And columns: "slip" = "scan_no-1"
    And history: one new row, "IN TRANSIT" → "ARRIVED"
    And outbox: "parcel_arrived"
    And facts: one new row

  @parcel/n-plus/sneak/PACKED/collect/not%20paid
  Scenario: collect [none] in PACKED: GuardFailed
    Given a row of "parcel" stands in state "PACKED"
    And I note its version
    And its values are
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
      | paid_cents | 0 |
    When I call event "collect"
    And these values are given
      | due_cents | 101 |
    And thereby this does not hold: the postage is paid
    Then answer: GuardFailed (refused: no guard is true)
    And row: still in state "PACKED"; version and values as before
    And history: no new row
    And outbox: nothing new

  @parcel/n-plus/sneak/PACKED/scan
  Scenario: scan in PACKED: Compensated
    Given a row of "parcel" stands in state "PACKED"
    And I note its version
    And its values are
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
    When I deliver callback "scan"
    And these values are given
      | scan_no | scan_no-1 |
    Then answer: Compensated (success for the caller, work for someone)
    And row: still in state "PACKED"; version and values as before
    And history: no new row
    And outbox: "scan_odd"
    And facts: one new row

  @parcel/n-plus/sneak/IN%20TRANSIT/expire
  Scenario: expire in IN TRANSIT: Ignored
    Given a row of "parcel" stands in state "IN TRANSIT" (On its way)
    And one way there from its creation: "collect" [paid]
    And I note its version
    And its values are
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
    When I call event "expire"
    Then answer: Ignored (success, nothing done)
    And row: still in state "IN TRANSIT" (On its way); version and values as before
    And history: no new row
    And outbox: nothing new

  @parcel/n-plus/sneak/IN%20TRANSIT/collect
  Scenario: collect in IN TRANSIT: Rejected
    Given a row of "parcel" stands in state "IN TRANSIT" (On its way)
    And one way there from its creation: "collect" [paid]
    And I note its version
    And its values are
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
      | paid_cents | 0 |
    When I call event "collect"
    And these values are given
      | due_cents | 0 |
    Then answer: Rejected (refused)
    And row: still in state "IN TRANSIT" (On its way); version and values as before
    And history: no new row
    And outbox: nothing new

  @parcel/n-plus/sneak/ARRIVED/expire
  Scenario: expire in ARRIVED: Ignored
    Given a row of "parcel" stands in state "ARRIVED"
    And one way there from its creation: "collect" [paid], "scan"
    And I note its version
    And its values are
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
    When I call event "expire"
    Then answer: Ignored (success, nothing done)
    And row: still in state "ARRIVED"; version and values as before
    And history: no new row
    And outbox: nothing new

  @parcel/n-plus/sneak/ARRIVED/collect
  Scenario: collect in ARRIVED: Rejected
    Given a row of "parcel" stands in state "ARRIVED"
    And one way there from its creation: "collect" [paid], "scan"
    And I note its version
    And its values are
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
      | paid_cents | 0 |
    When I call event "collect"
    And these values are given
      | due_cents | 0 |
    Then answer: Rejected (refused)
    And row: still in state "ARRIVED"; version and values as before
    And history: no new row
    And outbox: nothing new

  @parcel/n-plus/sneak/ARRIVED/scan
  Scenario: scan in ARRIVED: Compensated
    Given a row of "parcel" stands in state "ARRIVED"
    And one way there from its creation: "collect" [paid], "scan"
    And I note its version
    And its values are
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
    When I deliver callback "scan"
    And these values are given
      | scan_no | scan_no-1 |
    Then answer: Compensated (success for the caller, work for someone)
    And row: still in state "ARRIVED"; version and values as before
    And history: no new row
    And outbox: "scan_odd"
    And facts: one new row

  @parcel/n-plus/sneak/LOST/expire
  Scenario: expire in LOST: Ignored
    Given a row of "parcel" stands in state "LOST"
    And one way there from its creation: "expire"
    And I note its version
    And its values are
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
    When I call event "expire"
    Then answer: Ignored (success, nothing done)
    And row: still in state "LOST"; version and values as before
    And history: no new row
    And outbox: nothing new

  @parcel/n-plus/sneak/LOST/collect
  Scenario: collect in LOST: Rejected
    Given a row of "parcel" stands in state "LOST"
    And one way there from its creation: "expire"
    And I note its version
    And its values are
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
      | paid_cents | 0 |
    When I call event "collect"
    And these values are given
      | due_cents | 0 |
    Then answer: Rejected (refused)
    And row: still in state "LOST"; version and values as before
    And history: no new row
    And outbox: nothing new

  @parcel/n-plus/sneak/LOST/scan
  Scenario: scan in LOST: Compensated
    Given a row of "parcel" stands in state "LOST"
    And one way there from its creation: "expire"
    And I note its version
    And its values are
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
    When I deliver callback "scan"
    And these values are given
      | scan_no | scan_no-1 |
    Then answer: Compensated (success for the caller, work for someone)
    And row: still in state "LOST"; version and values as before
    And history: no new row
    And outbox: "scan_odd"
    And facts: one new row
