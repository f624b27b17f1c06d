//! tmp
pub(crate) fn softmax_columns(x: &mut [f64], n: usize, k: usize, log_norm: Option<&mut [f64]>) {
    let mut top = vec![f64::NEG_INFINITY; n];
    for c in 0..k { for i in 0..n { top[i] = top[i].max(x[c*n+i]); } }
    let mut sum = vec![0.0; n];
    for c in 0..k { for i in 0..n { let e = (x[c*n+i]-top[i]).exp(); x[c*n+i] = e; sum[i] += e; } }
    for c in 0..k { for i in 0..n { x[c*n+i] /= sum[i]; } }
    if let Some(l) = log_norm { for i in 0..n { l[i] = top[i] + sum[i].ln(); } }
}
pub(crate) fn ridge_in_place(x: &mut [f64]) { for t in x { *t /= (1.0 + *t * *t).sqrt(); } }
pub(crate) fn affine_columns(x: &[f64], n: usize, p: usize, w: &[f64], k: usize, out: &mut [f64]) {
    for c in 0..k {
        let o = &mut out[c*n..(c+1)*n];
        o.fill(w[c*(p+1)]);
        for j in 0..p { let wj = w[c*(p+1)+j+1]; let xs = &x[j*n..(j+1)*n]; for i in 0..n { o[i] += wj*xs[i]; } }
    }
}
