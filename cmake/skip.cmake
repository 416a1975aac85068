message("skipped: ${CMAKE_ARGV3}")
