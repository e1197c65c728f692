"""The same tasks elsewhere: files for a judge without network, for MTurk, Potato and Label Studio."""
