//! Money as people read it: exactly, and never as a floating-point number.

/// Dollars with two decimals, or as many as it takes to leave nothing out.
pub fn dollars(usd_micros: u64) -> String {
    let (whole, part) = (usd_micros / 1_000_000, format!("{:06}", usd_micros % 1_000_000));
    let shown = part.trim_end_matches('0').len().max(2);
    format!("${whole}.{}", &part[..shown])
}

#[cfg(test)]
mod tests {
    use super::dollars;

    #[test]
    fn nothing_is_rounded_away() {
        for (micros, shown) in [(0, "$0.00"), (1, "$0.000001"), (500_000, "$0.50"), (1_170_000, "$1.17")] {
            assert_eq!(dollars(micros), shown);
        }
        assert_eq!(dollars(u64::MAX), "$18446744073709.551615");
    }
}
