"""Threads, files, progress, checks of values: what all folders use and what knows nothing of maps."""
