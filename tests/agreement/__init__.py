"""The two judges of a simulated run, the simulator's oracle and Spark, on the same seeds."""
