package banking

var (
	CutText   = cutText
	WithPlace = (*Banking).withPlace
)

type Place = place

const LargestFetch = largestFetch
