use simd_minimizers::seq_hash::MulHasher;

/// The signature of the C peers. Positions only: the crate orders k-grams by 16 bits of a hash and does not keep it.
///
/// # Safety
/// `chars` holds n bytes, `positions` has room for n numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn winnow(
    chars: *const u8,
    n: usize,
    k: usize,
    w: usize,
    _hashes: *mut u64,
    positions: *mut u32,
) -> usize {
    let text: &[u8] = unsafe { std::slice::from_raw_parts(chars, n) };
    let hasher = <MulHasher<false>>::new(k);
    let picked = simd_minimizers::minimizers(k, w).hasher(&hasher).run_once(text);
    unsafe { std::ptr::copy_nonoverlapping(picked.as_ptr(), positions, picked.len()) };
    picked.len()
}
