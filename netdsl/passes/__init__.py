"""Rewrites of nets: functions from NetDef to NetDef."""
