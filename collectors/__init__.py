"""From bytes to facts: recognise what a text is, parse it into observations and keep them."""
