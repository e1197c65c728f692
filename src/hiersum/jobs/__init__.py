"""Long work: files written whole, progress, many processes, many machines."""
