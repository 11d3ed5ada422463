"""What is handed out: the course for students, and the archive for an autograder."""
