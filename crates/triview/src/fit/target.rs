//! What a fit is to match: the moments of some rows, by the distances that their features allow.

use super::refinement::{Distance, Implicit, Objective, Refined, refine, refine_both};
use super::starts::{Start, posterior_start};
use super::{Mixture, Whitening, power_method};
use crate::data::VIEWS;
use crate::error::Result;
use crate::features::FeatureMap;
use crate::moments::{FeatureRows, Layout, Moments};
use crate::settings::pull;
use faer::Mat;

/// The moments of any rows of a plan, in whitened coordinates.
pub(crate) struct Target<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) whitening: &'a Whitening,
    /// The features of all rows, where the third moment is not formed.
    rows: Option<&'a FeatureRows>,
    /// Where cells are posteriors': for each view the map from whitened features to the posterior of every
    /// class.
    posteriors: Option<[Mat<f64>; VIEWS]>,
    /// The number of latent states.
    k: usize,
}

/// The refinements from the two starts.
pub(crate) struct FromStarts {
    pub(crate) start: Start,
    pub(crate) best: Refined,
    /// The other start's, where it is another optimum.
    pub(crate) other: Option<Refined>,
}

impl<'a> Target<'a> {
    pub(crate) fn new(
        moments: &'a Moments,
        rows: Option<&'a FeatureRows>,
        whitening: &'a Whitening,
    ) -> Result<Self> {
        let k = moments.plan().states();
        let posteriors = match &moments.plan().features {
            // The leading one and all but the first class: together they give every class.
            FeatureMap::Posterior { .. } if rows.is_none() => {
                let all = Mat::from_fn(k, k, |i, j| match (i, j) {
                    (0, 0) => 1.0,
                    (0, _) => -1.0,
                    _ => f64::from(u8::from(i == j)),
                });
                Some(whitening.inverses()?.map(|inverse| &all * inverse))
            }
            _ => None,
        };
        Ok(Self { layout: moments.layout(), whitening, rows, posteriors, k })
    }

    /// The distance of a mixture from the moments of all rows, where the third moment is not formed. Class means are
    /// drawn to those under the feature map's own posterior.
    pub(crate) fn implicit(&self, sums: &[f64], strength: f64) -> Option<Implicit<'_>> {
        let centre = posterior_start(self.whitening, self.layout, sums);
        Some(Implicit::new(self.rows?, &self.whitening.maps, centre, strength))
    }

    /// The distances that these features, and what was formed of their moments, allow.
    pub(crate) fn distances(&self) -> Vec<Distance> {
        match self.posteriors {
            Some(_) => vec![Distance::Squares, Distance::KullbackLeibler],
            None => vec![Distance::Squares],
        }
    }

    /// The distance of a mixture from the moments of these sums.
    pub(crate) fn objective(&self, distance: Distance, sums: &[f64]) -> Objective {
        let whitened = self.whitening.apply(&self.layout.features, sums);
        match (&self.posteriors, distance) {
            (Some(maps), Distance::KullbackLeibler) => {
                let cells = whitened.mapped([&maps[0], &maps[1], &maps[2]]);
                Objective::kullback_leibler(cells, maps.clone(), self.k)
            }
            _ => Objective::squares(whitened.tensor, whitened.dims, self.k),
        }
    }

    /// Refines both starts.
    pub(crate) fn fit(&self, sums: &[f64], seed: u64) -> Result<FromStarts> {
        let (whitening, family) = (self.whitening, &self.layout.features);
        if let Some(implicit) = self.implicit(sums, pull::STRONG) {
            return Ok(FromStarts { start: Start::Posterior, best: implicit.refine(), other: None });
        }
        let objective = self.objective(Distance::Squares, sums);
        let own = posterior_start(whitening, self.layout, sums);
        let Some(start) = power_method(&whitening.apply(family, sums), self.k, seed)? else {
            let best = refine(&objective, &own);
            return Ok(FromStarts { start: Start::Posterior, best, other: None });
        };
        // Both starts mostly end in the same minimum.
        Ok(match refine_both(&objective, [&start, &own]) {
            (tensor, Some(own)) if own.objective < tensor.objective => {
                FromStarts { start: Start::Posterior, best: own, other: Some(tensor) }
            }
            (tensor, other) => FromStarts { start: Start::Tensor, best: tensor, other },
        })
    }

    /// A start for a distance that needs positive cells: class means of posteriors pulled into the simplex.
    pub(crate) fn positive(&self, mixture: &Mixture) -> Mixture {
        let Some(maps) = &self.posteriors else { return mixture.clone() };
        let floor = 1e-4 / self.k as f64;
        let means = std::array::from_fn(|v| {
            let posterior = &maps[v] * &mixture.means[v];
            let plain = Mat::from_fn(self.k, self.k, |i, j| {
                let clipped = |i: usize| posterior[(i, j)].max(floor);
                if i == 0 { 1.0 } else { clipped(i) / (0..self.k).map(clipped).sum::<f64>() }
            });
            &self.whitening.maps[v] * plain
        });
        Mixture { prior: mixture.prior.iter().map(|p| p.max(1e-4)).collect(), means }
    }
}
