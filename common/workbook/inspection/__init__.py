"""What the object files of steps use: `grade` refuses some of it, and `check` says so before."""
