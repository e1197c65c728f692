"""Titles, leads and cited addresses from a Wikipedia dump, and the clusters they make."""
