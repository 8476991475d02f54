"""Past incidents with a confirmed cause: read them, search them, and cite the ones that resemble what is seen now."""
