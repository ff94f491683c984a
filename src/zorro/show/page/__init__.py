"""Pages that show explanations: their data, their text, and the front end that draws them."""
