//! How views are grouped into three where there are more.
//!
//! Groups should say about equally much of the class: an estimate is only as good as the weakest of the three. What
//! a view says is seen in how it agrees with the others, since given the class it has nothing to do with them.

use crate::error::Result;
use crate::features::{Basis, Softmax};
use crate::groups::Groups;
use crate::moments::kernel;
use crate::views::{Batch, VIEWS};
use serde::{Deserialize, Serialize};

/// Up to so many sets of views every way of grouping them is compared: 966 ways for eight.
const MOST_COMPARED: usize = 8;

/// Who chose the groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chosen {
    /// The program, by what a first look at the rows says.
    Automatic,
    /// The user.
    ByHand,
}

impl Chosen {
    /// Its name in the answer.
    pub fn name(self) -> &'static str {
        match self {
            Chosen::Automatic => "automatic",
            Chosen::ByHand => "by hand",
        }
    }
}

/// The groups of the views, and how they came about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grouping {
    /// The groups.
    pub groups: Groups,
    /// Who chose them.
    pub chosen: Chosen,
}

impl Grouping {
    /// Groups that were asked for.
    pub fn by_hand(groups: Groups) -> Self {
        Self { groups, chosen: Chosen::ByHand }
    }

    /// Three views, each a group of its own.
    pub fn single() -> Self {
        Self { groups: Groups::single(), chosen: Chosen::Automatic }
    }

    /// Whether they are groups of so many views.
    pub(crate) fn fits(&self, views: usize) -> bool {
        self.groups.fits(views)
    }

    /// Groups that say about equally much on these rows.
    pub(crate) fn choose(rows: &Batch) -> Result<Self> {
        if rows.views() == VIEWS {
            return Ok(Self::single());
        }
        let sets: Vec<Vec<usize>> = (0..rows.views()).map(|view| vec![view]).collect();
        let groups = balanced(&sets, &information(rows, &sets)?);
        Ok(Self { groups, chosen: Chosen::Automatic })
    }
}

/// What each of some sets of views says of the class: the mean, over the other sets, of the sum of its squared
/// canonical correlations with the other. Features are softmaxes of the sets' summed scores.
fn information(rows: &Batch, sets: &[Vec<usize>]) -> Result<Vec<f64>> {
    let n = rows.rows();
    let mut whitened = Vec::with_capacity(sets.len());
    for views in sets {
        let scores = rows.sum(views);
        let mut columns = Vec::new();
        Softmax::fit(n, &scores).evaluate(n, &scores, &mut columns);
        let mut features = Vec::new();
        Basis::fit(n, &columns, 0)?.evaluate(n, &columns, &mut features);
        whitened.push(features);
    }
    let mut information = vec![0.0; sets.len()];
    for a in 0..sets.len() {
        for b in 0..a {
            let width = [a, b].map(|set| whitened[set].len() / n);
            let mut correlations = vec![0.0; width[0] * width[1]];
            kernel::cross(&whitened[a], &whitened[b], n, width[0], width[1], &mut correlations);
            let squares: f64 = correlations.iter().map(|sum| (sum / n as f64).powi(2)).sum();
            for set in [a, b] {
                information[set] += squares / (sets.len() - 1) as f64;
            }
        }
    }
    Ok(information)
}

/// The grouping of some sets with the largest product of what its groups say.
fn balanced(sets: &[Vec<usize>], information: &[f64]) -> Groups {
    let ways = if sets.len() <= MOST_COMPARED { every_way(sets.len()) } else { vec![greedy(information)] };
    let best = ways.into_iter().max_by(|a, b| balance(a, information).total_cmp(&balance(b, information)));
    groups(sets, &best.unwrap_or_default())
}

/// The sum over groups of the logarithm of what their sets say together.
fn balance(way: &[usize], information: &[f64]) -> f64 {
    let mut sums = [f64::MIN_POSITIVE; VIEWS];
    way.iter().zip(information).for_each(|(&group, information)| sums[group] += information);
    sums.iter().map(|sum| sum.ln()).sum()
}

/// Every way to deal so many sets to three groups that are not empty, the first set to the first group, and each group
/// begun before the next.
fn every_way(sets: usize) -> Vec<Vec<usize>> {
    let mut ways = vec![Vec::new()];
    for _ in 0..sets {
        ways = ways
            .into_iter()
            .flat_map(|way: Vec<usize>| {
                let begun = way.iter().max().map_or(0, |last| last + 1);
                (0..=begun.min(VIEWS - 1)).map(move |group| [way.as_slice(), &[group]].concat())
            })
            .collect();
    }
    ways.retain(|way| way.contains(&(VIEWS - 1)));
    ways
}

/// Deals the sets that say most first, each to the group that says least so far.
fn greedy(information: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..information.len()).collect();
    order.sort_by(|&a, &b| information[b].total_cmp(&information[a]));
    let mut sums = [0.0; VIEWS];
    let mut way = vec![0; information.len()];
    for set in order {
        let least = (0..VIEWS).fold(0, |least, group| if sums[group] < sums[least] { group } else { least });
        way[set] = least;
        sums[least] += information[set];
    }
    way
}

/// The groups that a way of dealing some sets makes.
fn groups(sets: &[Vec<usize>], way: &[usize]) -> Groups {
    let members = std::array::from_fn(|group| {
        let dealt = sets.iter().zip(way).filter(|(_, of)| **of == group);
        dealt.flat_map(|(views, _)| views.iter().copied()).collect()
    });
    Groups::ordered(members)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;
    use crate::simulate::{Population, Preset, Setting};
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    fn members(groups: &Groups) -> Vec<Vec<usize>> {
        groups.iter().cloned().collect()
    }

    #[test]
    fn every_way_is_there_once() {
        // Stirling numbers of the second kind.
        assert_eq!(every_way(3), [[0, 1, 2]]);
        assert_eq!([4, 5, 8].map(|sets| every_way(sets).len()), [6, 25, 966]);
    }

    #[test]
    fn strong_views_are_dealt_to_different_groups() {
        let sets: Vec<Vec<usize>> = (0..5).map(|view| vec![view]).collect();
        let information = [0.1, 2.0, 0.2, 1.0, 1.1];
        assert_eq!(members(&balanced(&sets, &information)), [vec![0, 4], vec![1], vec![2, 3]]);
        assert_eq!(groups(&sets, &greedy(&information)), balanced(&sets, &information));
    }

    #[test]
    fn a_view_that_says_more_has_more_information() {
        let setting = Setting { views: 4, ..Preset::Three.setting() };
        let population = Population::draw(&setting, 3).unwrap();
        let (rows, _) = population.rows(4_000, &mut Pcg64::seed_from_u64(1));
        // The last view is drowned in what the rows before say, which has nothing to do with the class of its row.
        let drowned = |class: usize| {
            let column = rows.column(3, class);
            (0..4_000).map(|row| column[row] + 3.0 * column[(row + 17) % 4_000]).collect::<Vec<f64>>()
        };
        let mut scores: Vec<Vec<f64>> = (0..3).map(|view| rows.view(view).to_vec()).collect();
        scores.push((0..3).flat_map(drowned).collect());
        let sets: Vec<Vec<usize>> = (0..4).map(|view| vec![view]).collect();
        let found = information(&Batch::new(4_000, scores).unwrap(), &sets).unwrap();
        assert!((0..3).all(|view| found[view] > 1.5 * found[3]), "{found:?}");
    }
}
