"""From prepared examples to weights; around the story, which does not know it."""
