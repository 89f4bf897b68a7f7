"""Text edits that repair a finding and keep everything else of a file as it is written."""
