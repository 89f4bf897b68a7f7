"""PyTorch: one file per namespace or family, most of them tables of rows (`models.operation`)."""
