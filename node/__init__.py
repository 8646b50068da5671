"""The public folder store of one server: change numbers and sets, state tables, replication agent."""
