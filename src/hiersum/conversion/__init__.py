"""Other people's weights become model folders of ours."""
