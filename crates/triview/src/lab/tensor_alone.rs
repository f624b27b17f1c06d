//! The tensor power method alone: what the paper's figure calls the tensor method.

use crate::answer::{identify, linear_risk};
use crate::error::Result;
use crate::fit::{Whitening, power_method};
use crate::moments::Moments;

/// The risk by the tensor power method, linear surrogates and no refinement: a point of comparison, up to five times worse than
/// [`Moments::solve`]. `None` where that method finds no decomposition.
///
/// # Errors
/// Whatever keeps these moments from being answered.
pub fn tensor_risk(moments: &Moments, seed: u64) -> Result<Option<f64>> {
    let (plan, layout, sums) = (moments.plan(), moments.layout(), moments.total());
    let loss = &*plan.loss;
    let whitening = Whitening::fit(&plan.group_names(), layout, &sums)?;
    let Some(mixture) = power_method(&whitening.apply(&layout.features, &sums), plan.states(), seed)? else {
        return Ok(None);
    };
    let (mixture, matching) = identify(loss, &layout.features, &whitening, &mixture, layout, &sums)?;
    let named = (&mixture, matching.names.as_slice());
    Ok(Some(linear_risk(loss, &layout.features, &whitening, named, layout, &sums)?.value))
}
