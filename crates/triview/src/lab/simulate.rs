//! Scores with known truth.
//!
//! A view of a row is the mean of its class in `k` dimensions plus Laplace noise of unit variance; the model
//! scores it by the linear discriminant of means that are themselves wrong. So the views are independent
//! given the class, the noise is heavier-tailed than any model here assumes, and the model errs.

use crate::data::{Batch, Schema, VIEWS};
use crate::error::{Error, Result};
use crate::numeric::argmax;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Exp1, StandardNormal};
use rand_pcg::Pcg64;
use std::fmt;
use std::str::FromStr;

/// The settings that the accuracy tables are made with: how far classes lie apart, for how many classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// Two classes; the model errs on about 10% of rows, one view alone on 23%.
    Two,
    /// Three classes; 20% and 40%.
    ThreeHarder,
    /// Three classes; 9% and 32%.
    Three,
    /// Six classes; 11% and 37%.
    Six,
    /// Ten classes, well apart.
    Ten,
    /// Two hundred classes; the model errs on 15%.
    TwoHundred,
    /// Three classes of two subclasses each that the model does not know of; it errs on 5%.
    Subclasses,
}

impl Preset {
    /// Every preset.
    pub const ALL: [Preset; 7] = [
        Preset::Two,
        Preset::ThreeHarder,
        Preset::Three,
        Preset::Six,
        Preset::Ten,
        Preset::TwoHundred,
        Preset::Subclasses,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Two => "two",
            Preset::ThreeHarder => "three-harder",
            Preset::Three => "three",
            Preset::Six => "six",
            Preset::Ten => "ten",
            Preset::TwoHundred => "two-hundred",
            Preset::Subclasses => "subclasses",
        }
    }

    /// What it sets.
    pub fn setting(self) -> Setting {
        let (classes, separation) = match self {
            Preset::Two => (2, 1.2),
            Preset::ThreeHarder => (3, 1.02),
            Preset::Three => (3, 1.6),
            Preset::Six => (6, 1.2),
            Preset::Ten => (10, 1.8),
            Preset::TwoHundred => (200, 0.25),
            Preset::Subclasses => (3, 2.2),
        };
        let (model_noise, subclasses) = if self == Preset::Subclasses { (0.25, 2) } else { (0.5, 1) };
        Setting {
            views: VIEWS,
            classes,
            separation,
            model_noise,
            prior: None,
            shared: 0.0,
            hard: 0.0,
            copied: None,
            missing: 0.0,
            subclasses,
            subclass_separation: 1.8,
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Preset {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Preset::ALL.into_iter().find(|preset| preset.name() == name).ok_or_else(|| Error::InvalidParameter {
            name: "preset",
            value: name.into(),
            expected: "one of two, three-harder, three, six, ten, two-hundred, subclasses",
        })
    }
}

/// What to simulate.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Number of views, three or more.
    pub views: usize,
    /// Number of classes, `k`.
    pub classes: usize,
    /// `s`: class means are drawn from `N(0, s^2 / 2)` in each of `k` dimensions.
    pub separation: f64,
    /// How wrong the model's means are, as a fraction of the spread of the true ones.
    pub model_noise: f64,
    /// Probability of each class; uniform where absent.
    pub prior: Option<Vec<f64>>,
    /// The share of rows in which the second view has the first one's noise: there the two depend on each other.
    pub shared: f64,
    /// The share of rows that are hard: in all views at once their means are shortened to 0.3.
    pub hard: f64,
    /// Makes the second view a copy of the first up to Laplace noise of this standard deviation.
    pub copied: Option<f64>,
    /// The probability of each view to be missing in a row, whatever else is.
    pub missing: f64,
    /// How many subclasses, all as frequent, each class has: given the class alone the views then depend on each other.
    pub subclasses: usize,
    /// `t`: where there are several, their means lie around the class's by what is drawn from `N(0, t^2 / 2)`. The model knows
    /// the class's alone.
    pub subclass_separation: f64,
}

/// What is left of the means of hard rows.
const OF_HARD_ROWS: f64 = 0.3;

/// Class means, true and as the model has them: what rows are drawn from.
#[derive(Debug, Clone)]
pub struct Population {
    schema: Schema,
    prior: Vec<f64>,
    shared: f64,
    hard: f64,
    copied: Option<f64>,
    missing: f64,
    subclasses: usize,
    /// By view, subclass (those of a class one after the other) and dimension.
    means: Vec<Vec<Vec<f64>>>,
    /// By view, class and dimension.
    model: Vec<Vec<Vec<f64>>>,
}

impl Population {
    /// Draws the class means.
    ///
    /// # Errors
    /// [`Error::ViewCount`], [`Error::TooManyViews`], and [`Error::InvalidParameter`] for fewer than two classes, a separation or noise that is not a
    /// non-negative number, or a prior that is not one probability a class.
    pub fn draw(setting: &Setting, seed: u64) -> Result<Self> {
        let k = setting.classes;
        let refuse = |name, value: String, expected| Err(Error::InvalidParameter { name, value, expected });
        if k < 2 {
            return refuse("classes", k.to_string(), "at least two are needed");
        }
        let copied = setting.copied.unwrap_or(0.0);
        if setting.subclasses == 0 {
            return refuse("subclasses", "0".into(), "at least one a class is needed");
        }
        let sizes = [
            ("separation", setting.separation),
            ("model noise", setting.model_noise),
            ("copied", copied),
            ("subclass separation", setting.subclass_separation),
        ];
        for (name, value) in sizes {
            if !(value.is_finite() && value >= 0.0) {
                return refuse(name, value.to_string(), "a finite number, zero or more, is needed");
            }
        }
        let prior = setting.prior.clone().unwrap_or_else(|| vec![1.0 / k as f64; k]);
        if prior.len() != k
            || prior.iter().any(|p| p.is_nan() || *p < 0.0)
            || (prior.iter().sum::<f64>() - 1.0).abs() > 1e-9
        {
            return refuse(
                "prior",
                format!("{prior:?}"),
                "one probability a class, summing to one, is needed",
            );
        }
        for (name, share) in
            [("shared", setting.shared), ("hard", setting.hard), ("missing", setting.missing)]
        {
            if !(0.0..=1.0).contains(&share) {
                return refuse(name, share.to_string(), "a share of the rows, from 0 to 1, is needed");
            }
        }
        let mut rng = Pcg64::seed_from_u64(seed);
        let spread = setting.separation / 2f64.sqrt();
        let mut normal = |scale: f64| scale * Distribution::<f64>::sample(&StandardNormal, &mut rng);
        let mut of_view =
            || -> Vec<Vec<f64>> { (0..k).map(|_| (0..k).map(|_| normal(spread)).collect()).collect() };
        let mut means: Vec<Vec<Vec<f64>>> = (0..setting.views).map(|_| of_view()).collect();
        let mut as_modelled = |of_view: &Vec<Vec<f64>>| -> Vec<Vec<f64>> {
            let off = spread * setting.model_noise;
            of_view.iter().map(|mean| mean.iter().map(|x| x + normal(off)).collect()).collect()
        };
        let mut model: Vec<Vec<Vec<f64>>> = means.iter().map(&mut as_modelled).collect();
        if setting.subclasses > 1 {
            let spread = setting.subclass_separation / 2f64.sqrt();
            for of_view in &mut means {
                *of_view = of_view
                    .iter()
                    .flat_map(|mean| scatter(mean, setting.subclasses, || normal(spread)))
                    .collect();
            }
        }
        let classes = (0..k).map(|class| class.to_string()).collect();
        let schema = Schema::new((0..setting.views).map(view_name).collect(), classes)?;
        if setting.copied.is_some() {
            (means[1], model[1]) = (means[0].clone(), model[0].clone());
        }
        let Setting { shared, hard, copied, missing, subclasses, .. } = *setting;
        Ok(Self { schema, prior, shared, hard, copied, missing, subclasses, means, model })
    }

    /// The same rows, of which a model whose means are moved by so much more speaks: a share of the way that a seed draws.
    #[must_use]
    pub fn moved(&self, by: f64, seed: u64) -> Self {
        let mut rng = Pcg64::seed_from_u64(seed);
        let mut moved = self.clone();
        for mean in moved.model.iter_mut().flatten().flatten() {
            *mean += by * Distribution::<f64>::sample(&StandardNormal, &mut rng);
        }
        moved
    }

    /// The same with other shares of the classes, which sum to one.
    #[must_use]
    pub fn with_prior(&self, prior: Vec<f64>) -> Self {
        Self { prior, ..self.clone() }
    }

    /// Names of the views and classes.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Probability of each class.
    pub fn prior(&self) -> &[f64] {
        &self.prior
    }

    /// How many subclasses have a larger mean score for some other class than for their own: states that nothing but labels
    /// shows to be called wrongly.
    pub fn misnamed(&self) -> usize {
        let mean_score = |subclass: usize, class: usize| -> f64 {
            let of_view = |v: usize| score(&self.model[v][class], &self.means[v][subclass]);
            (0..self.means.len()).map(of_view).sum()
        };
        let named = |subclass: usize| {
            argmax((0..self.prior.len()).map(|class| mean_score(subclass, class)))
                == subclass / self.subclasses
        };
        (0..self.prior.len() * self.subclasses).filter(|&subclass| !named(subclass)).count()
    }

    /// Draws rows: the model's scores, and the class of each row.
    pub fn rows(&self, rows: usize, rng: &mut Pcg64) -> (Batch, Vec<usize>) {
        let k = self.prior.len();
        let labels: Vec<usize> = (0..rows).map(|_| draw_class(&self.prior, rng)).collect();
        let mut scores = vec![vec![0.0; k * rows]; self.means.len()];
        let mut noise = vec![0.0; k];
        for (row, &label) in labels.iter().enumerate() {
            let subclass = match self.subclasses {
                1 => label,
                several => label * several + rng.random_range(0..several),
            };
            let signal = if self.hard > 0.0 && rng.random::<f64>() < self.hard { OF_HARD_ROWS } else { 1.0 };
            let shares = self.shared > 0.0 && rng.random::<f64>() < self.shared;
            for v in 0..self.means.len() {
                match self.copied {
                    Some(more) if v == 1 => noise.iter_mut().for_each(|noise| *noise += more * laplace(rng)),
                    _ if shares && v == 1 => {}
                    _ => noise.iter_mut().for_each(|noise| *noise = laplace(rng)),
                }
                let x: Vec<f64> =
                    self.means[v][subclass].iter().zip(&noise).map(|(mean, n)| signal * mean + n).collect();
                for (i, model) in self.model[v].iter().enumerate() {
                    scores[v][i * rows + row] = score(model, &x);
                }
            }
        }
        let batch = Batch::from_finite(rows, scores);
        if self.missing == 0.0 {
            return (batch, labels);
        }
        let views = self.means.len();
        let mut missing = |view: usize| u64::from(rng.random::<f64>() < self.missing) << view;
        let missing = (0..rows).map(|_| (0..views).map(&mut missing).sum()).collect();
        (batch.lacking(missing), labels)
    }

    /// Draws rows as three arrays, one a view, of the scores of each row one after the other. No view is missing.
    pub fn arrays(&self, rows: usize, seed: u64) -> [Vec<f64>; VIEWS] {
        let (batch, _) = self.rows(rows, &mut Pcg64::seed_from_u64(seed));
        let k = batch.k();
        let score = |view: usize, at: usize| batch.column(view, at % k)[at / k];
        std::array::from_fn(|view| (0..rows * k).map(|at| score(view, at)).collect())
    }
}

/// The linear discriminant of a mean, `x . m - |m|^2 / 2`.
fn score(mean: &[f64], x: &[f64]) -> f64 {
    mean.iter().zip(x).map(|(m, x)| m * (x - 0.5 * m)).sum()
}

/// So many points around a centre that is their mean.
fn scatter(centre: &[f64], count: usize, mut draw: impl FnMut() -> f64) -> Vec<Vec<f64>> {
    let mut points: Vec<Vec<f64>> = (0..count).map(|_| centre.iter().map(|_| draw()).collect()).collect();
    for (i, centre) in centre.iter().enumerate() {
        let mean = points.iter().map(|point| point[i]).sum::<f64>() / count as f64;
        points.iter_mut().for_each(|point| point[i] += centre - mean);
    }
    points
}

/// `a` to `z`, then `a2` and so on.
fn view_name(view: usize) -> String {
    let letter = char::from(b'a' + (view % 26) as u8);
    match view / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{}", round + 1),
    }
}

/// Laplace noise of unit variance: an exponential of either sign, over the root of two.
pub(crate) fn laplace(rng: &mut Pcg64) -> f64 {
    let size: f64 = Exp1.sample(rng);
    let sign = if rng.random::<bool>() { 1.0 } else { -1.0 };
    sign * size / 2f64.sqrt()
}

pub(crate) fn draw_class(prior: &[f64], rng: &mut Pcg64) -> usize {
    let mut left: f64 = rng.random();
    for (class, p) in prior.iter().enumerate() {
        left -= p;
        if left < 0.0 {
            return class;
        }
    }
    prior.len() - 1
}
