/* Streams of files. What is to be read is not there, and nobody looks at what is written. */
#include "streams.h"

#include <fstream>

/* What fopen() does in a test. */
extern "C" void *__bw_open_file(const char *name, const char *mode) noexcept;

namespace std {

__basic_file<char>::__basic_file(__c_lock *) noexcept : _M_cfile(nullptr), _M_cfile_created(false) {}
__basic_file<char>::~__basic_file() { close(); }
bool __basic_file<char>::is_open() const noexcept { return _M_cfile != nullptr; }
__basic_file<char> *__basic_file<char>::open(const char *name, ios_base::openmode mode, int) {
    if (is_open()) return nullptr;
    bool reads = mode & ios_base::in, writes = mode & (ios_base::out | ios_base::app | ios_base::trunc);
    const char *how = reads && writes && mode & ios_base::trunc ? "w+" : reads ? "r" : "w";
    _M_cfile = (FILE *)__bw_open_file(name, how);
    _M_cfile_created = is_open();
    return is_open() ? this : nullptr;
}
__basic_file<char> *__basic_file<char>::close() {
    if (!is_open()) return nullptr;
    int failed = fclose(_M_cfile);
    _M_cfile = nullptr;
    return failed ? nullptr : this;
}

template <>
basic_filebuf<char>::basic_filebuf()
    : basic_streambuf(), _M_lock(), _M_file(&_M_lock), _M_mode(), _M_state_beg(), _M_state_cur(), _M_state_last(),
      _M_buf(nullptr), _M_buf_size(0), _M_buf_allocated(false), _M_reading(false), _M_writing(false), _M_pback(),
      _M_pback_cur_save(nullptr), _M_pback_end_save(nullptr), _M_pback_init(false), _M_codecvt(nullptr),
      _M_ext_buf(nullptr), _M_ext_buf_size(0), _M_ext_next(nullptr), _M_ext_end(nullptr) {}
template <> basic_filebuf<char> *basic_filebuf<char>::open(const char *name, ios_base::openmode mode) {
    if (!_M_file.open(name, mode)) return nullptr;
    _M_mode = mode;
    return this;
}
template <> basic_filebuf<char> *basic_filebuf<char>::close() { return _M_file.close() ? this : nullptr; }
template <> void basic_filebuf<char>::imbue(const locale &) {}
template <> streamsize basic_filebuf<char>::showmanyc() { return -1; }
template <> int basic_filebuf<char>::underflow() { return EOF; }
template <> int basic_filebuf<char>::pbackfail(int) { return EOF; }
template <> streamsize basic_filebuf<char>::xsgetn(char *, streamsize) { return 0; }
template <> int basic_filebuf<char>::overflow(int c) {
    if (!is_open()) return EOF;
    return c == EOF ? 0 : c;
}
template <> streamsize basic_filebuf<char>::xsputn(const char *, streamsize count) { return is_open() ? count : 0; }
template <> int basic_filebuf<char>::sync() { return 0; }
template <> streampos basic_filebuf<char>::seekoff(streamoff, ios_base::seekdir, ios_base::openmode) {
    __bw_unsupported("a place in a file");
}
template <> streampos basic_filebuf<char>::seekpos(streampos, ios_base::openmode) {
    __bw_unsupported("a place in a file");
}
template <> streambuf *basic_filebuf<char>::setbuf(char *, streamsize) { return this; }

template class basic_filebuf<char>;
template class basic_ifstream<char>;
template class basic_ofstream<char>;
template class basic_fstream<char>;

}
