"""Writers: neural ones that plan, search and check each sentence, and extractive ones."""
