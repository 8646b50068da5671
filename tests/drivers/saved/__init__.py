"""Labs that are saved, reset, resumed, restarted or killed, in every driver."""
