"""Files of replays in Chromium: handouts, frames, clips."""
