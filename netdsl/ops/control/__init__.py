"""Control flow: operators that run nested nets."""
