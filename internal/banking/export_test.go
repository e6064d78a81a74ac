package banking

var (
	CutText   = cutText
	WithPlace = withPlace
)

type Place = place
