#include "calque/array/print.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <locale>
#include <sstream>
#include <string>

#include "calque/array/borrow.hpp"
#include "calque/array/factories.hpp"
#include "calque/array/views.hpp"
#include "calque/call/virtual_devices.hpp"

namespace cq = calque;

namespace {

template <class T>
constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();
template <class T>
constexpr T infinite = std::numeric_limits<T>::infinity();

template <int Rank>
cq::array<const double, Rank> eighths(const cq::shape<Rank>& extents) {
  auto a = cq::arange<double>(extents.size());
  for (std::int64_t i = 0; i < a.size(); ++i) a(i) /= 8;
  return cq::reshape(a, extents);
}

struct comma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\\3"; }
};

}  // namespace

TEST_CASE("arrays print as NumPy prints them") {
  // the texts are what str() gave in NumPy 2.4
  struct row {
    std::string printed, expected;
  };
  // clang-format off
  const row rows[] = {
    {cq::to_string(cq::array<float, 1>{1.0e+00f, 2.0e+00f, 3.0e+00f}), "[1. 2. 3.]"},
    {cq::to_string(cq::array<float, 1>{1.0e-01f, 2.5e-01f, -3.5e+00f}), "[ 0.1   0.25 -3.5 ]"},
    {cq::to_string(cq::array<float, 1>{3.3333334e-01f, 6.666667e-01f}), "[0.33333334 0.6666667 ]"},
    {cq::to_string(cq::array<double, 1>{0.3333333333333333, 0.6666666666666666, 1.0}), "[0.33333333 0.66666667 1.        ]"},
    {cq::to_string(cq::array<float, 2>{{1.5e+00f, 2.0e+00f}, {3.0e+00f, -4.25e+00f}}),
     R"([[ 1.5   2.  ]
 [ 3.   -4.25]])"},
    {cq::to_string(cq::array<double, 1>{1e-05, 1.0}), "[1.e-05 1.e+00]"},
    {cq::to_string(cq::array<double, 1>{1000.0, 0.5}), "[1.e+03 5.e-01]"},
    {cq::to_string(cq::array<double, 1>{1001.0, 0.5}), "[1.001e+03 5.000e-01]"},
    {cq::to_string(cq::array<double, 1>{100000000.0, 100000000.0}), "[1.e+08 1.e+08]"},
    {cq::to_string(cq::array<double, 1>{99999999.0}), "[99999999.]"},
    {cq::to_string(cq::array<float, 1>{1.0e+06f, 2.0e+06f}), "[1.e+06 2.e+06]"},
    {cq::to_string(cq::array<float, 1>{9.99999e+05f, 1.0e+03f}), "[999999.   1000.]"},
    {cq::to_string(cq::array<float, 1>{1.2345679e+05f, 1.25e+00f}), "[1.2345679e+05 1.2500000e+00]"},
    {cq::to_string(cq::array<double, 1>{1e+100, 1e-100, 0.0}), "[1.e+100 1.e-100 0.e+000]"},
    {cq::to_string(cq::array<double, 1>{10000000000.0, 2.5e-10, -3.0}), "[ 1.0e+10  2.5e-10 -3.0e+00]"},
    {cq::to_string(cq::array<float, 1>{not_a_number<float>, infinite<float>, -infinite<float>}), "[ nan  inf -inf]"},
    {cq::to_string(cq::array<float, 1>{not_a_number<float>, 1.5e+00f}), "[nan 1.5]"},
    {cq::to_string(cq::array<double, 1>{-infinite<double>, 100.25, not_a_number<double>}), "[  -inf 100.25    nan]"},
    {cq::to_string(cq::array<float, 1>{not_a_number<float>, not_a_number<float>}), "[nan nan]"},
    {cq::to_string(cq::array<double, 1>{infinite<double>, 1e+20}), "[   inf 1.e+20]"},
    {cq::to_string(cq::array<float, 1>{-0.0e+00f, 0.0e+00f}), "[-0.  0.]"},
    {cq::to_string(cq::array<float, 1>{1.0e-04f, 9.0e-05f}), "[1.e-04 9.e-05]"},
    {cq::to_string(cq::array<double, 1>{0.001953125, 1.0}), "[0.00195312 1.        ]"},
    {cq::to_string(cq::array<double, 1>{0.123456789012, 12.3456789012345}), "[ 0.12345679 12.3456789 ]"},
    {cq::to_string(cq::array<float, 1>{1.6777216e+07f, 1.0e+00f}), "[1.6777216e+07 1.0000000e+00]"},
    {cq::to_string(cq::array<double, 1>{1e-310, 1.0}), "[1.e-310 1.e+000]"},
    {cq::to_string(cq::array<double, 1>{0.0001, 0.05}), "[0.0001 0.05  ]"},
    {cq::to_string(cq::array<float, 1>{1.0e-04f, 2.0e-04f}), "[0.0001 0.0002]"},
    {cq::to_string(cq::array<int, 1>{1, -20, 300}), "[  1 -20 300]"},
    {cq::to_string(cq::array<int, 2>{{1, 20}, {-3, 4}}),
     R"([[ 1 20]
 [-3  4]])"},
    {cq::to_string(cq::array<std::int8_t, 1>{-128, 127}), "[-128  127]"},
    {cq::to_string(cq::array<std::int64_t, 1>{INT64_MIN, 5}), "[-9223372036854775808                    5]"},
    {cq::to_string(cq::array<std::uint64_t, 1>{18446744073709551615ull, 0ull}), "[18446744073709551615                    0]"},
    {cq::to_string(cq::array<bool, 1>{true, false}), "[ True False]"},
    {cq::to_string(cq::array<bool, 2>{{true, true}, {true, false}}),
     R"([[ True  True]
 [ True False]])"},
    {cq::to_string(cq::array<int, 3>{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}),
     R"([[[1 2]
  [3 4]]

 [[5 6]
  [7 8]]])"},
    {cq::to_string(cq::array<float, 4>{{{{1.0e+00f}, {2.5e+00f}}}, {{{3.0e+00f}, {4.0e+00f}}}}),
     R"([[[[1. ]
   [2.5]]]


 [[[3. ]
   [4. ]]]])"},
    {cq::to_string(cq::array<float, 0>(1.0e-01f)), "0.1"},
    {cq::to_string(cq::array<float, 0>(3.0e+00f)), "3.0"},
    {cq::to_string(cq::array<float, 0>(1.0e+06f)), "1e+06"},
    {cq::to_string(cq::array<double, 0>(1000000000000000.0)), "1000000000000000.0"},
    {cq::to_string(cq::array<double, 0>(1e+16)), "1e+16"},
    {cq::to_string(cq::array<double, 0>(9e-05)), "9e-05"},
    {cq::to_string(cq::array<float, 0>(-1.5e-07f)), "-1.5e-07"},
    {cq::to_string(cq::array<double, 0>(not_a_number<double>)), "nan"},
    {cq::to_string(cq::array<float, 0>(-infinite<float>)), "-inf"},
    {cq::to_string(cq::array<int, 0>(-7)), "-7"},
    {cq::to_string(cq::array<bool, 0>(true)), "True"},
    {cq::to_string(cq::array<double, 0>(3.14159265358979)), "3.14159265358979"},
    {cq::to_string(cq::arange<int>(40)),
     R"([ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39])"},
    {cq::to_string(cq::arange<int>(30)),
     R"([ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
 24 25 26 27 28 29])"},
    {cq::to_string(cq::arange<int>(1001)), "[   0    1    2 ...  998  999 1000]"},
    {cq::to_string(cq::arange<double>(1001)), "[   0.    1.    2. ...  998.  999. 1000.]"},
    {cq::to_string(cq::reshape(cq::arange<int>(2000), cq::shape{20, 100})),
     R"([[   0    1    2 ...   97   98   99]
 [ 100  101  102 ...  197  198  199]
 [ 200  201  202 ...  297  298  299]
 ...
 [1700 1701 1702 ... 1797 1798 1799]
 [1800 1801 1802 ... 1897 1898 1899]
 [1900 1901 1902 ... 1997 1998 1999]])"},
    {cq::to_string(cq::reshape(cq::arange<int>(2000), cq::shape{4, 500})),
     R"([[   0    1    2 ...  497  498  499]
 [ 500  501  502 ...  997  998  999]
 [1000 1001 1002 ... 1497 1498 1499]
 [1500 1501 1502 ... 1997 1998 1999]])"},
    {cq::to_string(cq::reshape(cq::arange<float>(1100), cq::shape{1100, 1})),
     R"([[0.000e+00]
 [1.000e+00]
 [2.000e+00]
 ...
 [1.097e+03]
 [1.098e+03]
 [1.099e+03]])"},
    {cq::to_string(cq::reshape(cq::arange<int>(1536), cq::shape{8, 8, 8, 3})),
     R"([[[[   0    1    2]
   [   3    4    5]
   [   6    7    8]
   ...
   [  15   16   17]
   [  18   19   20]
   [  21   22   23]]

  [[  24   25   26]
   [  27   28   29]
   [  30   31   32]
   ...
   [  39   40   41]
   [  42   43   44]
   [  45   46   47]]

  [[  48   49   50]
   [  51   52   53]
   [  54   55   56]
   ...
   [  63   64   65]
   [  66   67   68]
   [  69   70   71]]

  ...

  [[ 120  121  122]
   [ 123  124  125]
   [ 126  127  128]
   ...
   [ 135  136  137]
   [ 138  139  140]
   [ 141  142  143]]

  [[ 144  145  146]
   [ 147  148  149]
   [ 150  151  152]
   ...
   [ 159  160  161]
   [ 162  163  164]
   [ 165  166  167]]

  [[ 168  169  170]
   [ 171  172  173]
   [ 174  175  176]
   ...
   [ 183  184  185]
   [ 186  187  188]
   [ 189  190  191]]]


 [[[ 192  193  194]
   [ 195  196  197]
   [ 198  199  200]
   ...
   [ 207  208  209]
   [ 210  211  212]
   [ 213  214  215]]

  [[ 216  217  218]
   [ 219  220  221]
   [ 222  223  224]
   ...
   [ 231  232  233]
   [ 234  235  236]
   [ 237  238  239]]

  [[ 240  241  242]
   [ 243  244  245]
   [ 246  247  248]
   ...
   [ 255  256  257]
   [ 258  259  260]
   [ 261  262  263]]

  ...

  [[ 312  313  314]
   [ 315  316  317]
   [ 318  319  320]
   ...
   [ 327  328  329]
   [ 330  331  332]
   [ 333  334  335]]

  [[ 336  337  338]
   [ 339  340  341]
   [ 342  343  344]
   ...
   [ 351  352  353]
   [ 354  355  356]
   [ 357  358  359]]

  [[ 360  361  362]
   [ 363  364  365]
   [ 366  367  368]
   ...
   [ 375  376  377]
   [ 378  379  380]
   [ 381  382  383]]]


 [[[ 384  385  386]
   [ 387  388  389]
   [ 390  391  392]
   ...
   [ 399  400  401]
   [ 402  403  404]
   [ 405  406  407]]

  [[ 408  409  410]
   [ 411  412  413]
   [ 414  415  416]
   ...
   [ 423  424  425]
   [ 426  427  428]
   [ 429  430  431]]

  [[ 432  433  434]
   [ 435  436  437]
   [ 438  439  440]
   ...
   [ 447  448  449]
   [ 450  451  452]
   [ 453  454  455]]

  ...

  [[ 504  505  506]
   [ 507  508  509]
   [ 510  511  512]
   ...
   [ 519  520  521]
   [ 522  523  524]
   [ 525  526  527]]

  [[ 528  529  530]
   [ 531  532  533]
   [ 534  535  536]
   ...
   [ 543  544  545]
   [ 546  547  548]
   [ 549  550  551]]

  [[ 552  553  554]
   [ 555  556  557]
   [ 558  559  560]
   ...
   [ 567  568  569]
   [ 570  571  572]
   [ 573  574  575]]]


 ...


 [[[ 960  961  962]
   [ 963  964  965]
   [ 966  967  968]
   ...
   [ 975  976  977]
   [ 978  979  980]
   [ 981  982  983]]

  [[ 984  985  986]
   [ 987  988  989]
   [ 990  991  992]
   ...
   [ 999 1000 1001]
   [1002 1003 1004]
   [1005 1006 1007]]

  [[1008 1009 1010]
   [1011 1012 1013]
   [1014 1015 1016]
   ...
   [1023 1024 1025]
   [1026 1027 1028]
   [1029 1030 1031]]

  ...

  [[1080 1081 1082]
   [1083 1084 1085]
   [1086 1087 1088]
   ...
   [1095 1096 1097]
   [1098 1099 1100]
   [1101 1102 1103]]

  [[1104 1105 1106]
   [1107 1108 1109]
   [1110 1111 1112]
   ...
   [1119 1120 1121]
   [1122 1123 1124]
   [1125 1126 1127]]

  [[1128 1129 1130]
   [1131 1132 1133]
   [1134 1135 1136]
   ...
   [1143 1144 1145]
   [1146 1147 1148]
   [1149 1150 1151]]]


 [[[1152 1153 1154]
   [1155 1156 1157]
   [1158 1159 1160]
   ...
   [1167 1168 1169]
   [1170 1171 1172]
   [1173 1174 1175]]

  [[1176 1177 1178]
   [1179 1180 1181]
   [1182 1183 1184]
   ...
   [1191 1192 1193]
   [1194 1195 1196]
   [1197 1198 1199]]

  [[1200 1201 1202]
   [1203 1204 1205]
   [1206 1207 1208]
   ...
   [1215 1216 1217]
   [1218 1219 1220]
   [1221 1222 1223]]

  ...

  [[1272 1273 1274]
   [1275 1276 1277]
   [1278 1279 1280]
   ...
   [1287 1288 1289]
   [1290 1291 1292]
   [1293 1294 1295]]

  [[1296 1297 1298]
   [1299 1300 1301]
   [1302 1303 1304]
   ...
   [1311 1312 1313]
   [1314 1315 1316]
   [1317 1318 1319]]

  [[1320 1321 1322]
   [1323 1324 1325]
   [1326 1327 1328]
   ...
   [1335 1336 1337]
   [1338 1339 1340]
   [1341 1342 1343]]]


 [[[1344 1345 1346]
   [1347 1348 1349]
   [1350 1351 1352]
   ...
   [1359 1360 1361]
   [1362 1363 1364]
   [1365 1366 1367]]

  [[1368 1369 1370]
   [1371 1372 1373]
   [1374 1375 1376]
   ...
   [1383 1384 1385]
   [1386 1387 1388]
   [1389 1390 1391]]

  [[1392 1393 1394]
   [1395 1396 1397]
   [1398 1399 1400]
   ...
   [1407 1408 1409]
   [1410 1411 1412]
   [1413 1414 1415]]

  ...

  [[1464 1465 1466]
   [1467 1468 1469]
   [1470 1471 1472]
   ...
   [1479 1480 1481]
   [1482 1483 1484]
   [1485 1486 1487]]

  [[1488 1489 1490]
   [1491 1492 1493]
   [1494 1495 1496]
   ...
   [1503 1504 1505]
   [1506 1507 1508]
   [1509 1510 1511]]

  [[1512 1513 1514]
   [1515 1516 1517]
   [1518 1519 1520]
   ...
   [1527 1528 1529]
   [1530 1531 1532]
   [1533 1534 1535]]]])"},
    {cq::to_string(eighths(cq::shape{2, 30})),
     R"([[0.    0.125 0.25  0.375 0.5   0.625 0.75  0.875 1.    1.125 1.25  1.375
  1.5   1.625 1.75  1.875 2.    2.125 2.25  2.375 2.5   2.625 2.75  2.875
  3.    3.125 3.25  3.375 3.5   3.625]
 [3.75  3.875 4.    4.125 4.25  4.375 4.5   4.625 4.75  4.875 5.    5.125
  5.25  5.375 5.5   5.625 5.75  5.875 6.    6.125 6.25  6.375 6.5   6.625
  6.75  6.875 7.    7.125 7.25  7.375]])"},
    {cq::to_string(cq::transpose(cq::reshape(cq::arange<int>(6), cq::shape{2, 3}))),
     R"([[0 3]
 [1 4]
 [2 5]])"},
    {cq::to_string(cq::zeros<float>(cq::shape{2, 0})), "[]"},
    {cq::to_string(cq::array<double, 1>{}), "[]"},
    {cq::to_string(cq::broadcast_to(cq::array<float, 0>(2.5f), cq::shape{2, 3})),
     R"([[2.5 2.5 2.5]
 [2.5 2.5 2.5]])"},
    {cq::to_string(cq::eye<double>(3)),
     R"([[1. 0. 0.]
 [0. 1. 0.]
 [0. 0. 1.]])"},
    {cq::to_string(cq::ones<bool>(cq::shape{1200})), "[ True  True  True ...  True  True  True]"},
  };
  // clang-format on
  for (const row& r : rows) CHECK(r.printed == r.expected);
}

TEST_CASE("printing neither heeds nor touches the locale") {
  std::ostringstream out;
  out.imbue(std::locale(std::locale::classic(), new comma));
  out << cq::array<double, 1>{12345.5, 1} << cq::array<int, 0>(12345);
  CHECK(out.str() == "[1.23455e+04 1.00000e+00]12345");
  CHECK(std::locale() == std::locale::classic());
}

TEST_CASE("arrays on another device are copied to be printed") {
  const auto others = cq::virtual_devices(cq::cpu(), {{.name = "a0"}});
  CHECK(cq::to_string(cq::array<float, 1>{1, 2}.to(others[0])) == "[1. 2.]");
  CHECK(cq::to_string(cq::array<float, 0>{3}.to(others[0])) == "3.0");
}
