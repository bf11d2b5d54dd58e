package inbox_test

const childURL = "PAWL_INBOX_CHILD"

func child(string) int { return 0 }
