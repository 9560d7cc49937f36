"""The method: neighbourhoods, assignment, spaces of prototypes, labels, the training loop, errors and indices."""
