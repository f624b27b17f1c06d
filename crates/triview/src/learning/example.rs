//! Feature rows with known classes, for tests.

use super::rows::{FeatureBatch, FeatureSchema};
use crate::data::{InMemory, Schema};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

/// Features of each view.
pub(crate) const WIDTHS: [usize; 3] = [4, 5, 6];
/// Classes.
pub(crate) const CLASSES: usize = 3;

/// Rows of a domain: class means plus noise, feature `f` of each view then multiplied by `1 + shift * f`. With a shift a
/// model of the features as they were gives the last ones too much weight.
pub(crate) fn rows(count: usize, shift: f64, seed: u64) -> FeatureBatch {
    let mut means = Pcg64::seed_from_u64(77);
    let normal = |rng: &mut Pcg64| -> f64 { StandardNormal.sample(rng) };
    let of_class: Vec<Vec<f64>> =
        WIDTHS.iter().map(|width| (0..width * CLASSES).map(|_| 1.1 * normal(&mut means)).collect()).collect();
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut features: Vec<Vec<f32>> = vec![Vec::new(); 3];
    let mut labels = Vec::new();
    for _ in 0..count {
        let class = rng.random_range(0..CLASSES);
        labels.push(Some(class));
        for (view, &width) in WIDTHS.iter().enumerate() {
            for f in 0..width {
                let x = of_class[view][class * width + f] + normal(&mut rng);
                features[view].push((x * (1.0 + shift * f as f64)) as f32);
            }
        }
    }
    FeatureBatch::new(count, WIDTHS.to_vec(), features)
        .expect("finite")
        .with_labels(labels)
        .expect("one a row")
}

/// The same rows without their labels, in two batches.
pub(crate) fn unlabelled(rows: &FeatureBatch) -> InMemory<FeatureSchema, FeatureBatch> {
    let views = |from: usize, to: usize| {
        (0..3).map(|v| rows.view(v)[from * WIDTHS[v]..to * WIDTHS[v]].to_vec()).collect()
    };
    let (half, all) = (rows.rows() / 3, rows.rows());
    let batch = |from, to| FeatureBatch::new(to - from, WIDTHS.to_vec(), views(from, to)).expect("finite");
    InMemory::new(schema(), vec![batch(0, half), batch(half, all)])
}

/// Names of views and features.
pub(crate) fn schema() -> FeatureSchema {
    let names = |width: usize| (0..width).map(|f| format!("f{f}")).collect();
    FeatureSchema::of_valid(["a", "b", "c"].into_iter().zip(WIDTHS).map(|(view, width)| (view, names(width))))
}

/// Names of views and classes.
pub(crate) fn score_schema() -> Schema {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Schema::new(names(&["a", "b", "c"]), names(&["x", "y", "z"])).expect("names")
}
