"""Other libraries: right or silent, one small file each."""
