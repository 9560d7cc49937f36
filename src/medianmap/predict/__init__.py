"""New objects on a fitted map: queries, the two nearest prototypes, tables of any length."""
