"""Patch clustering: huge data in one pass, patch by patch, with memory that does not grow with N."""
