"""The public maps and the classifier: parameters, the one function that runs a fit, and the model file."""
