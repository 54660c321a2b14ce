"""Iteration counters, learning rates, updates of parameters and loss scaling."""
