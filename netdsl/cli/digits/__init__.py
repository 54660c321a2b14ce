"""The main job of ``netdsl demo``: a small convolutional net on handwritten digits."""
