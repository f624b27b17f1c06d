//! tmp
pub(crate) fn cross(x: &[f64], y: &[f64], n: usize, p: usize, q: usize, out: &mut [f64]) {
    for a in 0..p { let xa=&x[a*n..(a+1)*n]; for b in 0..q { let yb=&y[b*n..(b+1)*n]; let mut s=[0.0;8]; let m=n/8*8; for (xc,yc) in xa[..m].chunks_exact(8).zip(yb[..m].chunks_exact(8)) { for l in 0..8 { s[l]+=xc[l]*yc[l]; } } let mut t: f64 = s.iter().sum(); for i in m..n { t+=xa[i]*yb[i]; } out[a*q+b]+=t; } }
}
pub(crate) fn tensor(u1: &[f64], u2: &[f64], u3: &[f64], n: usize, q: [usize;3], out: &mut [f64]) {
    let mut kr = vec![0.0; q[1]*n];
    for a in 0..q[0] { for b in 0..q[1] { for i in 0..n { kr[b*n+i]=u1[a*n+i]*u2[b*n+i]; } } cross(&kr,u3,n,q[1],q[2],&mut out[a*q[1]*q[2]..(a+1)*q[1]*q[2]]); }
}
