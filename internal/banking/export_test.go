package banking

// CutText is cutText for tests.
var CutText = cutText
