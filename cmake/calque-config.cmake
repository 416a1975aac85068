include("${CMAKE_CURRENT_LIST_DIR}/calque-targets.cmake")
