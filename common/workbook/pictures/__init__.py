"""Pictures of what a run reads and writes."""
