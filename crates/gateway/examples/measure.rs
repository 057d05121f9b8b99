//! Measures the model gateway on this machine: `cargo run --profile fast -p placet-gateway --example measure`.

#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::io;

use placet_gateway::measure::{Plan, measure};

#[tokio::main]
async fn main() -> io::Result<()> {
    let plan = Plan::default();
    let seen = measure(&plan).await?;
    println!("{} calls/s of {} bytes, in turn with direct calls", plan.rate_per_s, plan.request_bytes);
    println!(
        "  direct   p50 {:>6} us   p99 {:>6} us   max {:>6} us",
        seen.direct.p50_us, seen.direct.p99_us, seen.direct.max_us
    );
    println!(
        "  through  p50 {:>6} us   p99 {:>6} us   max {:>6} us",
        seen.through.p50_us, seen.through.p99_us, seen.through.max_us
    );
    println!("  added    p50 {:>6} us   p99 {:>6} us", seen.added_p50_us(), seen.added_p99_us());
    println!("{} callers: {} calls/s direct, {} calls/s through", plan.callers, seen.direct_per_s, seen.through_per_s);
    println!(
        "{} open streams: {} bytes each direct, {} bytes each through",
        seen.streams, seen.direct_bytes_per_stream, seen.through_bytes_per_stream
    );
    Ok(())
}
