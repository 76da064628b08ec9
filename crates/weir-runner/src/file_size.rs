//! The limit of the size of a file, as `ulimit -f` sets it. By default, a write beyond it ends the process.

/// Lets writes beyond the limit fail like those to a full disk. Programs that are started are not affected.
#[cfg(unix)]
#[expect(unsafe_code, reason = "no library handles this signal without a thread of its own")]
pub fn survive_file_size_limit() {
    // An ignored signal would stay ignored in programs that are started; a handler does not.
    extern "C" fn do_nothing(_signal: libc::c_int) {}
    // SAFETY: the handler has the signature required without SA_SIGINFO and does nothing, and the pointers are valid.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = do_nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGXFSZ, &raw const action, std::ptr::null_mut());
    }
}

/// Does nothing: there is no such limit here.
#[cfg(not(unix))]
pub fn survive_file_size_limit() {}
