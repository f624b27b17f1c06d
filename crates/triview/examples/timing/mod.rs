//! What the examples time themselves by.

/// Seconds that all threads of this process have worked, which do not run while other programs do.
#[cfg(unix)]
pub(crate) fn processor_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Elsewhere the seconds that went by.
#[cfg(not(unix))]
pub(crate) fn processor_seconds() -> f64 {
    std::time::UNIX_EPOCH.elapsed().map_or(0.0, |elapsed| elapsed.as_secs_f64())
}
