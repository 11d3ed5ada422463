"""What the verbs share: the course, the build, the judge, the console."""
