"""
Words by their spelling
=======================

t
"""

from medianmap import MedianSOM

som = MedianSOM(grid=(2, 2))
