package store

// SubscriptionsDueStatement is the pick of what is due, as an engine is asked.
func SubscriptionsDueStatement(s *Store) string {
	if _, isShared := s.engine.(*postgres); isShared {
		return subscriptionsDueQuery((&postgresConversation{}).dialect().skipLocked)
	}
	return subscriptionsDueQuery("")
}
