"""Does a sentence follow from its sources?"""
