# language: zh-CN
@pawl @parcel @n-plus
功能: parcel 的测试套件 n-plus

  从新建开始的往返树各路径，以及不得移动记录的情形。
  状态机 parcel：A parcel on its way.

  @parcel/n-plus/leaf/PACKED/expire
  场景: expire：PACKED → LOST
    假如尚无 "parcel" 记录；第一步新建
    当新建一条 "parcel" 记录
    而且给定以下值
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
      | paid_cents | 0 |
    那么应答：Applied（已生效）
    而且记录：状态 "PACKED"（已打包），版本 1
    而且到期：2 天后：expire
    而且历史：一行，→ "PACKED"
    而且发件箱："parcel_packed"
    当等待 2 天，由到期触发 "expire"；也可直接触发该事件
    那么应答：Applied（已生效）
    而且记录：状态 "LOST"，版本 +1
    而且到期：已清除
    而且历史：新增一行，"PACKED" → "LOST"
    而且发件箱：无新增

  @parcel/n-plus/leaf/IN%20TRANSIT/scan
  场景: collect [paid]：PACKED → IN TRANSIT，然后 scan：IN TRANSIT → ARRIVED
    假如尚无 "parcel" 记录；第一步新建
    当新建一条 "parcel" 记录
    而且给定以下值
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
      | paid_cents | 0 |
    那么应答：Applied（已生效）
    而且记录：状态 "PACKED"（已打包），版本 1
    而且到期：2 天后：expire
    而且历史：一行，→ "PACKED"
    而且发件箱："parcel_packed"
    当触发事件 "collect"（揽收）
    而且给定以下值
      | due_cents | 0 |
    而且这样，此条件成立：the postage is paid
    那么应答：Applied（已生效）
    而且记录：状态 "IN TRANSIT"（运输中），版本 +1
    而且到期：已清除
    而且历史：新增一行，"PACKED" → "IN TRANSIT"
    而且发件箱：无新增
    当投递回调 "scan"
    而且给定以下值
      | scan_no | scan_no-1 |
    那么应答：Applied（已生效）
    而且记录：状态 "ARRIVED"（已送达），版本 +1
    而且字段："slip" = "scan_no-1"
    而且历史：新增一行，"IN TRANSIT" → "ARRIVED"
    而且发件箱："parcel_arrived"
    而且事实表：新增一行

  @parcel/n-plus/sneak/PACKED/collect/not%20paid
  场景: PACKED 中 collect [none]：GuardFailed
    假如有一条 "parcel" 记录处于状态 "PACKED"（已打包）
    而且记下它的版本号
    而且其字段值为
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
      | paid_cents | 0 |
    当触发事件 "collect"（揽收）
    而且给定以下值
      | due_cents | 101 |
    而且这样，此条件不成立：the postage is paid
    那么应答：GuardFailed（拒绝：没有条件成立）
    而且记录：仍为状态 "PACKED"（已打包）；版本与字段值不变
    而且历史：无新增
    而且发件箱：无新增

  @parcel/n-plus/sneak/PACKED/scan
  场景: PACKED 中 scan：Compensated
    假如有一条 "parcel" 记录处于状态 "PACKED"（已打包）
    而且记下它的版本号
    而且其字段值为
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
    当投递回调 "scan"
    而且给定以下值
      | scan_no | scan_no-1 |
    那么应答：Compensated（对调用方成功，留下待处理的工作）
    而且记录：仍为状态 "PACKED"（已打包）；版本与字段值不变
    而且历史：无新增
    而且发件箱："scan_odd"
    而且事实表：新增一行

  @parcel/n-plus/sneak/IN%20TRANSIT/expire
  场景: IN TRANSIT 中 expire：Ignored
    假如有一条 "parcel" 记录处于状态 "IN TRANSIT"（运输中）
    而且新建后到达该状态的一条路径："collect" [paid]
    而且记下它的版本号
    而且其字段值为
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
    当触发事件 "expire"
    那么应答：Ignored（成功，未做任何事）
    而且记录：仍为状态 "IN TRANSIT"（运输中）；版本与字段值不变
    而且历史：无新增
    而且发件箱：无新增

  @parcel/n-plus/sneak/IN%20TRANSIT/collect
  场景: IN TRANSIT 中 collect：Rejected
    假如有一条 "parcel" 记录处于状态 "IN TRANSIT"（运输中）
    而且新建后到达该状态的一条路径："collect" [paid]
    而且记下它的版本号
    而且其字段值为
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
      | paid_cents | 0 |
    当触发事件 "collect"（揽收）
    而且给定以下值
      | due_cents | 0 |
    那么应答：Rejected（拒绝）
    而且记录：仍为状态 "IN TRANSIT"（运输中）；版本与字段值不变
    而且历史：无新增
    而且发件箱：无新增

  @parcel/n-plus/sneak/ARRIVED/expire
  场景: ARRIVED 中 expire：Ignored
    假如有一条 "parcel" 记录处于状态 "ARRIVED"（已送达）
    而且新建后到达该状态的一条路径："collect" [paid]，"scan"
    而且记下它的版本号
    而且其字段值为
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
    当触发事件 "expire"
    那么应答：Ignored（成功，未做任何事）
    而且记录：仍为状态 "ARRIVED"（已送达）；版本与字段值不变
    而且历史：无新增
    而且发件箱：无新增

  @parcel/n-plus/sneak/ARRIVED/collect
  场景: ARRIVED 中 collect：Rejected
    假如有一条 "parcel" 记录处于状态 "ARRIVED"（已送达）
    而且新建后到达该状态的一条路径："collect" [paid]，"scan"
    而且记下它的版本号
    而且其字段值为
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
      | paid_cents | 0 |
    当触发事件 "collect"（揽收）
    而且给定以下值
      | due_cents | 0 |
    那么应答：Rejected（拒绝）
    而且记录：仍为状态 "ARRIVED"（已送达）；版本与字段值不变
    而且历史：无新增
    而且发件箱：无新增

  @parcel/n-plus/sneak/ARRIVED/scan
  场景: ARRIVED 中 scan：Compensated
    假如有一条 "parcel" 记录处于状态 "ARRIVED"（已送达）
    而且新建后到达该状态的一条路径："collect" [paid]，"scan"
    而且记下它的版本号
    而且其字段值为
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
    当投递回调 "scan"
    而且给定以下值
      | scan_no | scan_no-1 |
    那么应答：Compensated（对调用方成功，留下待处理的工作）
    而且记录：仍为状态 "ARRIVED"（已送达）；版本与字段值不变
    而且历史：无新增
    而且发件箱："scan_odd"
    而且事实表：新增一行

  @parcel/n-plus/sneak/LOST/expire
  场景: LOST 中 expire：Ignored
    假如有一条 "parcel" 记录处于状态 "LOST"
    而且新建后到达该状态的一条路径："expire"
    而且记下它的版本号
    而且其字段值为
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
    当触发事件 "expire"
    那么应答：Ignored（成功，未做任何事）
    而且记录：仍为状态 "LOST"；版本与字段值不变
    而且历史：无新增
    而且发件箱：无新增

  @parcel/n-plus/sneak/LOST/collect
  场景: LOST 中 collect：Rejected
    假如有一条 "parcel" 记录处于状态 "LOST"
    而且新建后到达该状态的一条路径："expire"
    而且记下它的版本号
    而且其字段值为
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
      | paid_cents | 0 |
    当触发事件 "collect"（揽收）
    而且给定以下值
      | due_cents | 0 |
    那么应答：Rejected（拒绝）
    而且记录：仍为状态 "LOST"；版本与字段值不变
    而且历史：无新增
    而且发件箱：无新增

  @parcel/n-plus/sneak/LOST/scan
  场景: LOST 中 scan：Compensated
    假如有一条 "parcel" 记录处于状态 "LOST"
    而且新建后到达该状态的一条路径："expire"
    而且记下它的版本号
    而且其字段值为
      | id | 00000000-0000-4000-8000-000000000001 |
      | weight_g | 1 |
    当投递回调 "scan"
    而且给定以下值
      | scan_no | scan_no-1 |
    那么应答：Compensated（对调用方成功，留下待处理的工作）
    而且记录：仍为状态 "LOST"；版本与字段值不变
    而且历史：无新增
    而且发件箱："scan_odd"
    而且事实表：新增一行
