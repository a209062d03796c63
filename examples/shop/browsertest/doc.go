// Package browsertest walks through the shop and its console in a real browser. It is a module of its own, so that what
// drives a browser stays out of the library's.
//
// The tests run where SALLYPORT_TEST_CHROMIUM holds the path of Chromium. With SALLYPORT_SCREENSHOTS they write pictures of
// every screen into the folder that it names.
package browsertest
