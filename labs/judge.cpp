// The judge's program, with the labs that labs/meson.build lists.
#include "course.h"
#include "judge/serve.h"

int main(int argc, char** argv) { return lab::judge_main(course::labs, argc, argv); }
