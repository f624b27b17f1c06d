//! The risk of a model on rows that it has not seen, by labels that were not made from them.
//!
//! The labels `W_-g` are linear in functions `b_g` of the other groups, `W_-g = S_g b_g`, so what the risk is made of is bilinear in
//! the maps `S_g` and in sums over rows:
//!
//! ```text
//!     t_gj = E[W_-g,j f_g(x_g, j)] = <S_g, E[f_g b_g^T]>_j,    p_gj = E[W_-g,j] = <S_g, E[b_g^T]>_j,
//! ```
//!
//! and the risk is `E[A] - sum_gj t_gj` (eq. 3), or `E[A] + sum_j pi_j prod_g (t_gj / pi_j)` with `pi_j` the mean of `p_gj` where the loss is
//! a product of views (extension 2). From the sums of blocks of rows both errors are known, to first order: that of the
//! rows, and that of maps which were fitted to other rows.

use crate::answer::{LabelMaps, impossible};
use crate::data::{Batch, BlockSums, VIEWS, block_count, block_of};
use crate::estimator::Labeller;
use crate::loss::{Form, Loss, offsets, terms_of};
use crate::numeric::linalg::dot;

/// No loss is below zero.
pub(crate) const LEAST: f64 = 0.0;

/// Sums over the rows of each block: how many, their `A`, and the cells of `E[f_g b_g^T]`, group by group; for products also
/// those of `E[b_g^T]`.
#[derive(Debug, Clone)]
pub(crate) struct Judged {
    form: Form,
    classes: usize,
    /// How many functions each group's labels are made of.
    widths: [usize; VIEWS],
    /// Once their length is known.
    sums: Option<BlockSums>,
    position: u64,
}

impl Judged {
    pub(crate) fn new(form: Form, classes: usize) -> Self {
        Self { form, classes, widths: [0; VIEWS], sums: None, position: 0 }
    }

    /// Adds rows: the scores of the model that is judged, and those that the labels are made from.
    pub(crate) fn update(&mut self, loss: &dyn Loss, labeller: &Labeller, judged: &Batch, by: &Batch) {
        let rows = judged.rows();
        if rows == 0 {
            return;
        }
        let bases = labeller.bases(by);
        let terms = group_terms(loss, labeller, judged);
        self.widths = bases.each_ref().map(|basis| basis.len() / rows);
        let width: usize = self.widths.iter().sum();
        let plain = if self.form == Form::Sum { 0 } else { width };
        let length = 2 + self.terms() * width + plain;
        let offset = offsets(loss, judged);
        let count = block_count(self.classes);
        let blocks = self.sums.get_or_insert_with(|| BlockSums::new(count, length)).blocks_mut();
        for row in 0..rows {
            let sums = &mut blocks[block_of(judged, self.position, row, count)];
            BlockSums::fill(sums, length);
            sums[0] += 1.0;
            sums[1] += offset[row];
            let mut cells = sums[2..].iter_mut();
            for (terms, basis) in terms.iter().zip(&bases) {
                for term in terms.iter().skip(row).step_by(rows) {
                    let basis = basis.iter().skip(row).step_by(rows);
                    basis.zip(&mut cells).for_each(|(b, cell)| *cell += term * b);
                }
            }
            let plain = bases.iter().flat_map(|basis| basis.iter().skip(row).step_by(rows));
            cells.zip(plain).for_each(|(cell, b)| *cell += b);
        }
        self.position += rows as u64;
    }

    /// Terms of a group.
    fn terms(&self) -> usize {
        self.classes * self.form.terms()
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> f64 {
        self.filled().map(|block| block[0]).sum()
    }

    fn filled(&self) -> impl Iterator<Item = &[f64]> {
        self.sums.iter().flat_map(|sums| sums.filled().map(|(_, block)| block))
    }

    /// The means over rows of `A` and of all cells.
    fn means(&self) -> Vec<f64> {
        let rows = self.rows();
        let mut means: Vec<f64> = Vec::new();
        for block in self.filled() {
            means.resize(block.len() - 1, 0.0);
            means.iter_mut().zip(&block[1..]).for_each(|(mean, cell)| *mean += cell / rows);
        }
        means
    }

    /// `t_gj`, group by group, and for products `p_gj`.
    fn products(&self, maps: &LabelMaps, cells: &[f64]) -> Vec<f64> {
        let mut products = Vec::new();
        let mut at = 0;
        for (each, terms) in [(true, self.terms()), (false, self.classes)] {
            if !each && self.form == Form::Sum {
                break;
            }
            for (map, width) in maps.iter().zip(self.widths) {
                for term in 0..terms {
                    let from = term % self.classes * width;
                    products.push(dot(&map[from..from + width], &cells[at..at + width]));
                    at += if each { width } else { 0 };
                }
                at += if each { 0 } else { width };
            }
        }
        products
    }

    /// The risk beyond `E[A]` as a function of [`Judged::products`], and its derivatives.
    fn beyond(&self, products: &[f64]) -> (f64, Vec<f64>) {
        let (k, terms) = (self.classes, self.terms());
        if self.form == Form::Sum {
            return (-products.iter().sum::<f64>(), vec![-1.0; products.len()]);
        }
        let (mut value, mut slopes) = (0.0, vec![0.0; products.len()]);
        for term in 0..terms {
            let of = |g: usize| products[g * terms + term];
            let prior_at = |g: usize| VIEWS * terms + g * k + term % k;
            let prior = (0..VIEWS).map(|g| products[prior_at(g)]).sum::<f64>() / VIEWS as f64;
            let whole: f64 = (0..VIEWS).map(of).product();
            value += whole / prior.powi(2);
            for g in 0..VIEWS {
                let others: f64 = (0..VIEWS).filter(|other| *other != g).map(of).product();
                slopes[g * terms + term] = others / prior.powi(2);
                slopes[prior_at(g)] -= 2.0 * whole / prior.powi(3) / VIEWS as f64;
            }
        }
        (value, slopes)
    }

    /// The risk by these labels.
    pub(crate) fn risk(&self, labeller: &Labeller) -> f64 {
        let means = self.means();
        means[0] + self.beyond(&self.products(labeller.maps(), &means[1..])).0
    }

    /// What each block of rows adds to the error of the risk, and each block of the rows that the labels' maps were fitted to.
    fn deviations(&self, labeller: &Labeller) -> [Vec<f64>; 2] {
        let (maps, means, rows) = (labeller.maps(), self.means(), self.rows());
        let products = self.products(maps, &means[1..]);
        let (_, slopes) = self.beyond(&products);
        let mean = means[0] + dot(&slopes, &products);
        let count = self.filled().count() as f64;
        let scale = (count / (count - 1.0)).sqrt() / rows;
        let of_block = |block: &[f64]| {
            let part = block[1] + dot(&slopes, &self.products(maps, &block[2..]));
            scale * (part - block[0] * mean)
        };
        let of_map = |moved: &LabelMaps| dot(&slopes, &self.products(moved, &means[1..]));
        [self.filled().map(of_block).collect(), labeller.moved().of_blocks(of_map)]
    }
}

/// The terms of each group: sums, or products row by row, of its views'.
fn group_terms(loss: &dyn Loss, labeller: &Labeller, scores: &Batch) -> [Vec<f64>; VIEWS] {
    let mut groups: [Option<Vec<f64>>; VIEWS] = [const { None }; VIEWS];
    for view in 0..scores.views() {
        let terms = terms_of(loss, scores, view);
        let group = &mut groups[labeller.group_of(view)];
        match (group.as_mut(), loss.form()) {
            (None, _) => *group = Some(terms),
            (Some(group), Form::Sum) => group.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term),
            (Some(group), _) => group.iter_mut().zip(terms).for_each(|(product, term)| *product *= term),
        }
    }
    groups.map(Option::unwrap_or_default)
}

/// A risk over some rows, and what each block of rows adds to its error.
pub(crate) struct Spread {
    pub(crate) value: f64,
    deviations: Vec<f64>,
}

impl Spread {
    /// Over two parts, each of which is judged by labels that the other gave. A block has part in the error twice: by its
    /// rows in its own part, and by the maps that it gave the other.
    pub(crate) fn crossed(judged: &[Judged; 2], labellers: &[Labeller; 2]) -> Self {
        let rows = judged.each_ref().map(Judged::rows);
        let share = rows.map(|own| own / (rows[0] + rows[1]));
        let deviations = [0, 1].map(|part: usize| judged[part].deviations(&labellers[part]));
        let mut blocks = Vec::new();
        for part in [0, 1] {
            let (by_rows, by_maps) = (&deviations[part][0], &deviations[1 - part][1]);
            let of = |all: &[f64], block: usize, share: f64| share * all.get(block).copied().unwrap_or(0.0);
            blocks.extend(
                (0..by_rows.len().max(by_maps.len()))
                    .map(|block| of(by_rows, block, share[part]) + of(by_maps, block, share[1 - part])),
            );
        }
        let value = (0..2).map(|part| share[part] * judged[part].risk(&labellers[part])).sum();
        Self { value, deviations: blocks }
    }

    /// The risk to choose a model by: none that is below what a loss can be, for such a judgement has failed, and the smallest of them is the
    /// one that has failed the most.
    pub(crate) fn to_choose_by(&self) -> f64 {
        if impossible(self.value, self.standard_error(), LEAST) { f64::INFINITY } else { self.value }
    }

    /// Over two halves of so many rows, which have no row in common.
    pub(crate) fn of_halves(halves: [Self; 2], rows: [f64; 2]) -> Self {
        let share = rows.map(|own| own / (rows[0] + rows[1]));
        let scaled = |half: usize| halves[half].deviations.iter().map(move |d| share[half] * d);
        Self {
            value: share[0] * halves[0].value + share[1] * halves[1].value,
            deviations: scaled(0).chain(scaled(1)).collect(),
        }
    }

    /// This less another of the same rows and labels.
    pub(crate) fn minus(&self, other: &Self) -> Self {
        let pairs = self.deviations.iter().zip(&other.deviations);
        Self { value: self.value - other.value, deviations: pairs.map(|(own, other)| own - other).collect() }
    }

    pub(crate) fn standard_error(&self) -> f64 {
        dot(&self.deviations, &self.deviations).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_of_a_product_are_those_of_its_value() {
        let (classes, h) = (2, 1e-6);
        let judged = Judged { widths: [1; VIEWS], ..Judged::new(Form::Products(2), classes) };
        // Terms of three groups, two products of two classes each, then the classes' priors by each group.
        let at: Vec<f64> = (0..18).map(|i| 0.4 + 0.1 * f64::from(i).sin()).collect();
        let (_, slopes) = judged.beyond(&at);
        for (i, slope) in slopes.iter().enumerate() {
            let moved = |by: f64| {
                let mut at = at.clone();
                at[i] += by;
                judged.beyond(&at).0
            };
            let difference = (moved(h) - moved(-h)) / (2.0 * h);
            assert!((difference - slope).abs() < 1e-7, "{i}: {difference} {slope}");
        }
    }
}
